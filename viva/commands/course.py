"""Commands about the course and the machine: demo, doctor."""

from __future__ import annotations

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Int

from viva import demo, doctor
from viva.commands.command import NEEDS_GRADER, VivaCommand


class DemoCommand(VivaCommand):
    name = "viva-demo"
    description = "Write a class of artificial students, drawn from the known answers, into submitted/."
    examples = """
        viva demo                  24 students, all assignments
        viva demo --students=3     a small class
    """
    aliases = nbgrader_aliases | {"students": "DemoCommand.students"}
    students = Int(24, min=1, max=99, help="How many students the demo class has.").tag(config=True)

    def run(self) -> int:
        counts = demo.write_class(self.course, self.chosen_assignments(), self.students)
        for assignment, count in counts.items():
            self.console.print(f"{assignment}: {count} submissions by {self.students} demo students", highlight=False)
        self.show_document(students=self.students, submissions=counts)
        return 0


class DoctorCommand(VivaCommand):
    name = "viva-doctor"
    arguments = ""
    description = "Say what this machine or this course lacks, and the command that mends it."
    examples = """
        viva doctor
    """
    writes = False

    def run(self) -> int:
        sick, diagnoses = False, []
        for diagnosis in doctor.examine(self.course, self.config):
            diagnoses.append(vars(diagnosis) | {"remedy": "" if diagnosis.healthy else diagnosis.remedy})
            mark = "ok      " if diagnosis.healthy else "MISSING " if diagnosis.needed else "optional"
            remedy = "" if diagnosis.healthy else f": {diagnosis.remedy}"
            self.console.print(f"{mark}  {diagnosis.what}{remedy}", markup=False, highlight=False, soft_wrap=True)
            sick |= diagnosis.needed and not diagnosis.healthy
        self.show_document(diagnoses=diagnoses)
        return NEEDS_GRADER if sick else 0
