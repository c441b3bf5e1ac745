"""What a learning system says of the class:

systems       the systems that write such lists, and how they call the columns
participants  the students in such a list
personname    a person's name as lists write it
rosterfile    who is in the course, and what a newer list changes
"""
