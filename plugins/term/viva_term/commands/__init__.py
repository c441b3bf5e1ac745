"""The commands of a term:

collect      submissions from a learning system's archive
roster       the list of students
studentdata  what roster does with the data of one student
"""
