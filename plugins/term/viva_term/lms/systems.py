"""The learning systems with lists of participants, and the names of the columns in each.

A name of ours (``login``) stands for whatever a system calls it (``SIS Login ID``, ``Username``). The names that Moodle
gives follow the language of whoever exports; those below are of its language packs. Case does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from viva import doors

ROSTERS = doors.Door(
    "viva.rosters",
    adds="a format of class lists for `viva roster --from=`",
    entry="a `viva_term.lms.systems.System`",
)
NAMES = ("id", "first", "last", "name", "email", "lms", "sis", "login", "github", "section", "group")
"""What --columns may name; ``name`` is first and last name in one column."""
IDS = ("id", "login", "sis", "lms", "email", "github")
"""What a student may be called by."""


@dataclass(frozen=True)
class System:
    """A system that writes lists of students."""

    title: str
    columns: dict[str, tuple[str, ...]]
    """By our name, what the system may call it."""
    ids: tuple[str, ...]
    """What its students are called by; the next where a cell is empty."""
    marks: tuple[frozenset[str], ...]
    """Its lists have a column of each of these sets."""

    def wrote(self, header: set[str]) -> bool:
        return bool(self.marks) and all(mark & header for mark in self.marks)


MOODLE = {
    "first": "First name | Vorname | Prénom | Nombre | Nome | Voornaam",
    "last": "Last name | Surname | Nachname | Nom | Nom de famille | Apellido(s) | Apellidos | Apellido | Cognome"
    " | Achternaam | Sobrenome | Apelido",
    "name": "Full name | Vollständiger Name | Nom complet | Nombre completo | Nome completo | Volledige naam"
    " | First name / Last name | First name / Surname | Vorname / Nachname | Prénom / Nom | Nombre / Apellido(s)"
    " | Nome / Cognome | Voornaam / Achternaam",
    "email": "Email address | Email | E-Mail-Adresse | E-Mail | Adresse de courriel | Adresse e-mail | Courriel"
    " | Dirección de correo | Dirección de correo electrónico | Dirección Email | Correo electrónico | Correo"
    " | Indirizzo email | E-mailadres | Endereço de email | Endereço de e-mail",
    "sis": "ID number | ID-Nummer | Numéro d'identification | Número de ID | Número ID | Numero ID"
    " | Codice identificativo | Número de identificação",
    "login": "Username | Anmeldename | Nom d'utilisateur | Nombre de usuario | Nome utente | Gebruikersnaam"
    " | Nome de utilizador",
    "group": "Groups | Group | Gruppen | Gruppe | Groupes | Groupe | Grupos | Grupo | Gruppi | Gruppo"
    " | Groepen | Groep",
}
"""Moodle's columns in English, German, French, Spanish, Italian, Dutch and Portuguese."""
ROLES = {
    "gradescope": frozenset({"role"}),
    "moodle": frozenset({"roles", "role", "rollen", "rôles", "ruoli", "papéis"}),
}
"""By system, what it may call the column of roles."""
STUDENTS = (
    "student | teilnehmer/in | teilnehmer | teilnehmende | studierende/r | étudiant | étudiante | participant"
    " | estudiante | alumno | studente | estudante | aluno"
)
STAFF = (
    "manager | course creator | teacher | non-editing teacher | guest | manager/in | kursersteller/in | trainer/in"
    " | trainer | trainer/in ohne bearbeitungsrecht | gast | gestionnaire | créateur de cours | enseignant"
    " | enseignant non éditeur | visiteur anonyme | gestor | mánager | creador de curso | profesor"
    " | profesor sin permiso de edición | invitado | creatore di corsi | docente | docente non editor | ospite"
    " | leraar | docent | leraar zonder bewerkingsrechten | cursusaanmaker | professor | professor não editor"
    " | criador de cursos | convidado"
)
"""Moodle's own roles in its languages; a school may have others."""
NAMED, KNOWN_BY = ("first", "last", "name"), ("login", "sis", "email")
"""One of each its lists have."""


def plain(name: str) -> str:
    """A column's name without what does not count: case, spaces around, Brightspace's # and which apostrophe it is."""
    return name.strip().removeprefix("#").casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def is_staff(roles: str) -> bool:
    """Whether Moodle's roles of somebody, with commas between them, are known, and none is a student's."""
    names = [plain(role) for role in roles.split(",")]
    return all(role in STAFF.split(" | ") for role in names) and not any(
        role in STUDENTS.split(" | ") for role in names
    )


def _set(*names: str) -> frozenset[str]:
    return frozenset(plain(name) for name in names)


def _moodle() -> System:
    columns = {ours: tuple(names.split(" | ")) for ours, names in MOODLE.items()}
    named, known = ([name for one in few for name in columns[one]] for few in (NAMED, KNOWN_BY))
    columns["lms"] = columns["sis"]
    return System("Moodle", columns, ("login", "sis", "email"), (_set(*named), _set(*known)))


SYSTEMS = {
    "canvas": System(
        "Canvas",
        {
            "name": ("Student",),
            "last": ("LastName",),
            "first": ("FirstName",),
            "lms": ("ID",),
            "sis": ("SIS User ID",),
            "login": ("SIS Login ID",),
            "section": ("Section",),
        },
        ("login", "lms"),
        (_set("Student", "LastName"), _set("ID"), _set("Section", "SIS Login ID")),
    ),
    "brightspace": System(
        "Brightspace",
        {
            "lms": ("OrgDefinedId",),
            "sis": ("OrgDefinedId",),
            "login": ("Username",),
            "last": ("Last Name",),
            "first": ("First Name",),
            "email": ("Email",),
        },
        ("login", "lms"),
        (_set("OrgDefinedId", "End-of-Line Indicator"),),
    ),
    "gradescope": System(
        "Gradescope",
        {
            "first": ("First Name",),
            "last": ("Last Name",),
            "name": ("Name", "Full Name"),
            "lms": ("SID",),
            "sis": ("SID",),
            "email": ("Email",),
            "section": ("Sections", "Section"),
        },
        ("lms", "email"),
        (_set("First Name", "Last Name", "Name", "Full Name"), _set("Email"), _set("SID", "Sections", "Section")),
    ),
    "github": System(
        "GitHub Classroom",
        {
            "id": ("identifier", "roster_identifier"),
            "login": ("github_username",),
            "github": ("github_username",),
            "lms": ("github_id",),
            "name": ("name",),
            "group": ("group_name",),
        },
        ("id",),
        (_set("identifier", "roster_identifier"), _set("github_username")),
    ),
    "nbgrader": System(
        "nbgrader",
        {
            "id": ("id", "student_id"),
            "first": ("first_name",),
            "last": ("last_name",),
            "name": ("name",),
            "email": ("email",),
            "lms": ("lms_user_id",),
            "login": ("login",),
            "section": ("section",),
            "group": ("group",),
            "sis": ("sis",),
        },
        ("id",),
        (_set("id", "student_id"), _set("first_name", "last_name", "name", "email", "lms_user_id")),
    ),
    "moodle": _moodle(),
    "canvas-groups": System(
        "Canvas's groups",
        {
            "name": ("name",),
            "lms": ("canvas_user_id",),
            "sis": ("user_id",),
            "login": ("login_id",),
            "section": ("sections",),
            "group": ("group_name",),
        },
        ("login", "lms"),
        (_set("canvas_user_id"), _set("group_name")),
    ),
}
"""By what --from calls them; the first that may have written a list is taken to have."""


@cache
def systems() -> dict[str, System]:
    """Every system by what --from calls it: those of other packages first. Raises CourseError."""
    return ROSTERS.load_all(SYSTEMS) | SYSTEMS


def issuer_of(system: str) -> str:
    """Whose the numbers in a system's files are; empty for nbgrader's own files, which have its column."""
    return {"canvas-groups": "canvas", "nbgrader": ""}.get(system, system)


GROUPS = "canvas-groups"
"""A list of groups alone: who is not in it is in none of them, and in the course all the same."""
UNKNOWN = System("a file with named columns", {}, IDS, ())


def writer_of(header: tuple[str, ...]) -> str:
    """Which system wrote a list with these columns; empty when none did."""
    titles = {plain(name) for name in header}
    return next((name for name, system in systems().items() if system.wrote(titles)), "")
