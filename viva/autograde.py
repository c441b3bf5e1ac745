"""Steps inside nbgrader's autograder, to grade fairly."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor


class FailClosed(NbGraderPreprocessor):
    """After Execute: a test cell that never ran earns nothing; nbgrader would give it full marks."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        tests = cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell)
        if tests and cell.source.strip() and cell.execution_count is None:
            cell.outputs.append(new_output("error", ename="NotRun", evalue="this test did not run", traceback=[]))
        return cell, resources


class ForgiveWarnings(NbGraderPreprocessor):
    """After Execute: what a test cell writes to stderr is shown but costs nothing; nbgrader would take all points."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        if cell.cell_type == "code" and utils.is_grade(cell):
            for output in cell.outputs:
                if output.output_type == "stream" and output.name == "stderr":
                    output.name = "stdout"
        return cell, resources


class NoResponse(NbGraderPreprocessor):
    """After SaveScores: a written question that nobody answered needs no grader.

    nbgrader does this for answer cells that are graded by hand; this does it for task cells, whose
    answer stands in the cells below them: when those are empty or still the stub, the task earns
    zero and waits for nobody. A grade given by hand stays.
    """

    def preprocess(self, notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        unanswered = list(self._unanswered(notebook))
        if unanswered:
            place = resources["nbgrader"]
            where = place["notebook"], place["assignment"], place["student"]
            with Gradebook(place["db_url"]) as gradebook:
                for task in unanswered:
                    grade = gradebook.find_grade(task, *where)
                    if grade.manual_score is None:
                        grade.auto_score, grade.needs_manual_grade = 0, False
                        gradebook.find_comment(task, *where).auto_comment = "No response."
                gradebook.db.commit()
        return notebook, resources

    def _unanswered(self, notebook: NotebookNode):
        stubs = {"", ClearSolutions(parent=self.parent).text_stub.strip()}
        for index, cell in enumerate(notebook.cells):
            if not utils.is_task(cell):
                continue
            below = []
            for following in notebook.cells[index + 1 :]:
                if utils.is_task(following) or utils.is_grade(following):
                    break
                below.append(following.source.strip())
            if below and stubs.issuperset(below):
                yield cell.metadata.nbgrader["grade_id"]
