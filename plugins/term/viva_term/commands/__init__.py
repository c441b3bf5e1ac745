"""The commands of a term:

collect   submissions from a learning system's archive
person    what roster does with the data of one student
roster    the list of students
"""
