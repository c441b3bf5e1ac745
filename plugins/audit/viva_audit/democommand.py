"""`viva demo`."""

from __future__ import annotations

from nbgrader.apps.baseapp import nbgrader_aliases
from traitlets import Bool, Int

from viva.commands.command import VivaCommand, class_of
from viva.commands.founding import found, plan
from viva.wording import counted
from viva_audit import demo


class DemoCommand(VivaCommand):
    name = "viva-demo"
    heading = "Class"
    description = "Write submissions of an artificial class into submitted/, made from the known answers."
    examples = """
        viva demo                  24 students, all assignments; in an empty folder a new course with them
        viva demo --students=3     a small class
        viva demo --flow           also release, grade, feedback, export and report
        viva demo --remove         empty the course again; refused if it has other students
    """
    aliases = nbgrader_aliases | {"students": "DemoCommand.students"}
    flags = VivaCommand.flags | {
        "flow": ({"DemoCommand": {"flow": True}}, "Run the whole flow with the class."),
        "remove": ({"DemoCommand": {"remove": True}}, "Remove the demo class and all its files and grades."),
    }
    students = Int(24, min=1, max=99, help="How many students the demo class has.").tag(config=True)
    flow = Bool(False, help="Run the whole flow with the class.").tag(config=True)
    remove = Bool(False, help="Remove the demo class.").tag(config=True)
    founded = False
    """Whether this command has just created the course."""

    def initialize(self, argv: list[str] | None = None, root: str = "") -> None:
        super().initialize(argv, root)
        if not self.remove and self.course.root.is_dir() and not any(self.course.root.iterdir()):
            self.founded = True
            found(plan(self.course.root))
            super().initialize(argv, root)  # with the configuration that was written

    def run(self) -> int:
        if self.remove:
            return self._remove_class()
        if self.founded:
            self._say(f"A new course was written to {self.course.root}.")
        return self._run_flow() if self.flow or self.founded else self._write_class()

    def _run_flow(self) -> int:
        """One command after the other, in this process, as to load nbgrader takes a second each time."""
        rest = ("grade", "feedback", "export", "report") if self.flow else ()
        for name in ("release", "demo", *rest):
            options = ["--no-audit"] if name == "release" else []
            self.console.print(f"$ {' '.join(['viva', name, *options, *self.extra_args])}", style="bold")
            step = class_of(name)(config=self.config)
            step.initialize([*options, *self.extra_args])
            step.json, step.console = False, self.console
            if status := self._write_class() if name == "demo" else step.run():
                return status
        if not self.flow:
            self._say("Next: viva grade. 'viva' shows the state of the course at any time.")
        return 0

    def _remove_class(self) -> int:
        self.course.assignments()  # before anything is written
        with self.alone():
            removed = demo.remove_class(self.course)
        self._say(f"Removed: {counted(len(removed), 'demo student')}, with their submissions and grades.")
        self.show_document(removed=removed)
        return 0

    def _write_class(self) -> int:
        assignments = self.chosen_assignments()
        with self.alone():
            counts = demo.write_class(self.course, assignments, self.students)
        students = counted(self.students, "demo student")
        for assignment, count in counts.items():
            self.console.print(f"{assignment}: {counted(count, 'submission')} by {students}")
        for number, role in demo.ROLES.items():
            if number <= self.students:
                self._say(f"demo-{number:02d} {role}.")
        self.show_document(students=self.students, submissions=counts)
        return 0
