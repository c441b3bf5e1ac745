"""The commands of a term:

collect   submissions from a learning system's archive
roster    the list of students
"""
