"""The steps of grading a notebook, by name, as nbgrader's configuration has them.

They are nbgrader's own but for six: student code and tests run in two processes instead of a kernel, scores come from
there, an empty written answer waits for nobody, the cells that ask for a name are blank again, nothing that a student
submitted runs in a grader's browser, and the result of every check is written down.
"""

STEPS = [
    "viva.course.examining.autograde.Examine",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "viva.course.examining.autograde.SaveScores",
    "viva.course.examining.autograde.NoResponse",
    "viva.submission.blind.Blind",
    "viva.submission.sanitize.Sanitize",
    "viva.course.examining.autograde.RecordResults",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
