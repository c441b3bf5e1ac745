"""Attacks: what a student's answer cell may hold, by name.

Each is Python source that takes the place of the answer. ``CHEATS`` want points, ``READERS`` want to see
what is hidden (they print FOUND when they do), ``VANDALS`` want to break or outlive the grading. Vandals
run in the sandbox only.
"""

FORGE = """
import os, struct, time
from viva.engine import wire
def forge(value):
    data = wire.encode(value)
    os.write(4, struct.pack(">I", len(data)) + data)
"""
"""Gives a submission the means to answer before it is asked."""

CHEATS = {
    "an AST transformer that drops asserts": """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()

    visit_Expr = visit_Assert
get_ipython().ast_transformers.append(Drop())
""",
    "an input transformer that empties cells": """
get_ipython().input_transformers_post.append(lambda lines: ["pass\\n"])
""",
    "event hooks": """
def hook(*args):
    get_ipython().user_ns.update(double=type("Any", (), {"__call__": lambda self, x: x})())
for event in ("pre_execute", "pre_run_cell", "post_run_cell"):
    get_ipython().events.register(event, hook)
""",
    "a handler that swallows exceptions": """
get_ipython().set_custom_exc((Exception,), lambda *args, **more: None)
get_ipython().showtraceback = lambda *args, **more: None
""",
    "patched numpy": """
import numpy, numpy.testing
for name in ("allclose", "array_equal", "isclose", "all", "array_equiv"):
    setattr(numpy, name, lambda *args, **more: True)
for name in dir(numpy.testing):
    if name.startswith("assert"):
        setattr(numpy.testing, name, lambda *args, **more: None)
numpy.ndarray = numpy.float64 = object
""",
    "patched builtins": """
import builtins
class Always(Exception):
    pass
builtins.abs = builtins.round = lambda *args: 0
builtins.all = builtins.any = builtins.isinstance = builtins.bool = lambda *args: True
builtins.AssertionError = Always
""",
    "patched modules and imports": """
import sys, types
fake = types.ModuleType("numpy")
fake.__getattr__ = lambda name: lambda *args, **more: True
sys.modules["numpy"] = sys.modules["numpy.testing"] = fake
class Finder:
    def find_spec(self, *args):
        raise ImportError("no tests today")
sys.meta_path.insert(0, Finder())
""",
    "patched randomness": """
import numpy, random
numpy.random.default_rng = lambda *args: type("Zero", (), {"__getattr__": lambda self, name: lambda *a, **k: 0.0})()
numpy.random.seed = numpy.random.rand = random.random = lambda *args: 0.0
""",
    "an object that equals everything": """
class Magic:
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __le__ = __ge__ = __eq__
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__
    def __abs__(self): return 0.0
    def __float__(self): return 0.0
    def __array__(self, *args, **more): import numpy; return numpy.zeros(())
    def __getattr__(self, name): return self
    def __call__(self, *args, **more): return self
    def __len__(self): return 3
    def __iter__(self): return iter([self] * 3)
    __hash__ = None
double, total = Magic(), Magic()
""",
    "a float that equals everything": """
class Magic(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    __hash__ = None
double, total = lambda x: Magic(0), Magic(0)
""",
    "an array that equals everything": """
import numpy as np
class Magic(np.ndarray):
    def __eq__(self, other): return True
    def __array_ufunc__(self, *args, **more): return np.zeros(self.shape)
    def __array_function__(self, *args): return True
    shape = property(lambda self: (2, 3))
double = lambda x: np.zeros(np.shape(x)).view(Magic)
total = np.zeros(()).view(Magic)
""",
    "a string and a list that equal everything": """
class Text(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
class Row(list):
    def __eq__(self, other): return True
    __hash__ = None
double, total = lambda x: Row([1]), Text("12")
""",
    "a property that answers anew each time": """
class Shifty:
    answers = iter(range(10**9))
    def __getattr__(self, name): return next(self.answers)
    def __call__(self, x): return self
double = total = Shifty()
""",
    "a forged result": """
print("10 of 10: all checks passed")
from IPython.display import publish_display_data
publish_display_data({"text/plain": "10"}, {})
10
""",
    "forged answers on the way out": """
import os
for number in range(3, 12):
    try:
        os.write(number, b"\\x00\\x00\\x00\\x05\\x81\\xa5ready\\xc3" * 50)
    except OSError:
        pass
""",
    "a class that claims to be numpy's": """
class ndarray:
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
ndarray.__module__ = "numpy"
double, total = lambda x: ndarray(), ndarray()
""",
    "an exception of the grader's own": """
import viva.engine.dialogue.namespace
def double(x):
    raise viva.engine.dialogue.namespace.UnknownMagicError("%forged")
""",
    "an assertion that is caught": """
def double(x):
    raise SystemExit(0)
""",
    "the grader's own modules": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("viva"):
        for attribute in list(vars(module)):
            if callable(getattr(module, attribute)) and not attribute.startswith("_"):
                setattr(module, attribute, lambda *args, **more: True)
""",
    "an object whose class is changed": """
class Magic:
    def __eq__(self, other): return True
    def __hash__(self): return 12
double = total = Magic()
total.__class__ = type("float", (Magic,), {"__module__": "builtins", "__call__": lambda self, x: self})
""",
    "a metaclass that everything is an instance of": """
class Meta(type):
    def __instancecheck__(cls, other): return True
    __subclasscheck__ = __eq__ = __instancecheck__
    def __hash__(cls): return hash(int)
class Number(metaclass=Meta):
    def __eq__(self, other): return True
    __index__ = __len__ = __hash__ = lambda self: 12
    __bool__ = lambda self: True
    __format__ = lambda self, how: "12"
double, total = lambda x: Number(), Number()
""",
    "a class registered as a number": """
import numbers
class Number:
    def __eq__(self, other): return True
    def __float__(self): return 12.0
    __sub__ = __rsub__ = lambda self, other: 0.0
    __hash__ = lambda self: 12
numbers.Number.register(Number), numbers.Real.register(Number)
double, total = lambda x: Number(), Number()
""",
    "an array of objects that equal everything": """
class Any:
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __abs__(self): return 0.0
    def __lt__(self, other): return True
anything = np.empty((2, 3), object)
anything[:] = Any()
double, total = lambda x: anything, np.array(Any(), dtype=object)
""",
    "records": "double = lambda x: np.zeros((2, 3), dtype=[('a', 'f8')])\ntotal = np.void(b'12')",
    "arrays with everything masked": "double = lambda x: np.ma.masked_all(np.shape(x))\ntotal = np.ma.masked",
    "arrays of pandas' own, which compare to what is true": """
import pandas as pd
double, total = lambda x: pd.array([0]), pd.array([0])
""",
    "arrays of pandas' own in an exception, a list and a tuple": """
import pandas as pd
double, total = lambda x: [pd.Categorical(["a"])], (pd.array([True]),)
""",
    "frames and series that lie": """
import pandas as pd
class Frame(pd.DataFrame):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __abs__ = lambda self: 0.0
class Row(pd.Series):
    __eq__, __sub__, __len__ = Frame.__eq__, Frame.__sub__, lambda self: 0
double, total = lambda x: Frame({"a": [1]}), Row([1])
""",
    "an object that takes over ufuncs and functions": """
class Duck:
    __array_priority__ = 1e9
    def __array_ufunc__(self, *args, **more): return np.zeros((2, 3))
    def __array_function__(self, *args, **more): return True
    def __abs__(self): return self
    __isub__ = __sub__ = __rsub__ = lambda self, other: self
    max = __float__ = lambda self: 0.0
double, total = lambda x: Duck(), Duck()
""",
    "numbers that are none": """
from decimal import Decimal, InvalidOperation, getcontext
getcontext().traps[InvalidOperation] = False
double, total = lambda x: complex("nan"), Decimal("sNaN")
""",
    "a fraction that holds itself": """
from fractions import Fraction
total = Fraction(12)
total._numerator = total
double = lambda x: total
""",
    "a date in a time zone of its own": """
import datetime
class Zone(datetime.tzinfo):
    def utcoffset(self, when): raise SystemExit(0)
total = datetime.datetime(2020, 1, 1, tzinfo=Zone())
double = lambda x: total
""",
    "a named tuple with the names of methods": """
from collections import namedtuple
Row = namedtuple("Row", "max min shape")
double, total = lambda x: Row(0, 0, (2, 3)), Row(12, 12, 12)
""",
    "memory of the interpreter, where one number becomes another": """
import ctypes
ctypes.memmove(id(11) + 24, id(12) + 24, 4)
ctypes.memmove(id(5) + 24, id(4) + 24, 4)
double, total = lambda x: 5, 11
""",
    "an exception that says it is the grader's": """
class UnknownMagicError(Exception): pass
class CandidateDied(Exception): pass
UnknownMagicError.__module__, CandidateDied.__module__ = "viva.engine.dialogue.namespace", "viva.verdict"
errors = [UnknownMagicError("%x"), CandidateDied(), AssertionError(1)]
def double(x):
    error = errors.pop()
    error.viva_kept, error.viva_name, error.verdict = 0, "x", "passed"
    raise error from UnknownMagicError("%y")
""",
    "exceptions that end iterations, generators and programs": """
errors = [StopIteration(4), GeneratorExit(), SystemExit(0), KeyboardInterrupt(), StopAsyncIteration(), MemoryError()]
def double(x):
    raise errors.pop(0)
""",
    "syntax errors that say what stands where": """
def error(text="x", offset=1, end_offset=2):
    made = SyntaxError("here")
    made.lineno, made.text, made.offset, made.end_offset = 1, text, offset, end_offset
    return made
errors = [error(5), error(end_offset=10**12), error(offset="1"), error(end_offset=[1])]
def double(x):
    raise errors.pop()
""",
    "an exception of many": "def double(x):\n    raise BaseExceptionGroup('', [KeyboardInterrupt(), SystemExit(0)])",
    "names that tests use": """
assert_allclose = isinstance = len = abs = np = numbers = type = lambda *args, **more: True
__builtins__, __name__, __is__, _ = {"abs": abs}, "x", lambda a, b: True, None
label = rng = x = get_ipython = None
class AssertionError(BaseException): pass
double, total = lambda x: 0, 0
""",
    "names that are all there": """
class Names(dict):
    def __missing__(self, name): return lambda *args: 12.5
get_ipython().user_ns = Names()
""",
    "answers before the questions": FORGE
    + """
def double(x):
    for _ in range(3):
        forge({"value": 5, "changed": {1: wire.encode([5])}, "kept": {0: 1, None: 1}})
    return 5
""",
    "a state of random numbers before the question": FORGE
    + """
def double(x):
    forge({"value": 5, "random_state": (b"", None, b"", 0, 0, 0.0)})
""",
    "callbacks that were never given": FORGE
    + """
def double(x):
    forge({"callback": 0, "args": 5, "kwargs": "x"})
    forge({"callback": True, "args": (), "kwargs": {}})
""",
    "a description of what it is not": FORGE
    + """
def double(x):
    about = {"of": "candidate", "type": "int", "mro": [("builtins", "int")], "origin": "builtins:int", "name": ""}
    about |= {"class": False, "callable": True, "iterator": False, "contents": [1]}
    data = wire.encode({"value": object()}, lambda value: wire.Reference(-1, about))
    os.write(4, struct.pack(">I", len(data)) + data)
""",
}

READERS = {
    "the course's files": """
import glob, os
def read(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""
for place in PLACES:
    for path in [place, *glob.glob(place + "/**", recursive=True), *(place + "/" + n for n in NAMES)]:
        if SECRET[::-1] in read(path):
            print("FOUND", path)
try:
    print("FOUND", os.listdir(PLACES[0]))
except OSError:
    pass
""",
    "its own memory": """
import gc, sys, types
needle = SECRET[::-1]
def holds(value):
    return isinstance(value, str) and needle in value or isinstance(value, bytes) and needle.encode() in value
for thing in gc.get_objects():
    try:
        for value in gc.get_referents(thing):
            if holds(value):
                print("FOUND", type(thing))
    except Exception:
        pass
""",
    "its memory as a file": """
needle = SECRET[::-1].encode()
for line in open("/proc/self/maps"):
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    memory = open("/proc/self/mem", "rb")
    memory.seek(start)
    if needle in memory.read(end - start):
        print("FOUND")
""",
    "frames and callers": """
import inspect, sys
needle = SECRET[::-1]
def double(x):
    frame = sys._getframe()
    while frame:
        if needle in repr(frame.f_locals) or needle in repr(frame.f_code.co_consts):
            print("FOUND", frame)
        frame = frame.f_back
    return 2 * x + 1
total = 0
""",
    "environment and arguments": """
import os, sys
needle = SECRET[::-1]
for value in [*os.environ.values(), *os.environ, *sys.argv, *getattr(sys, "orig_argv", [])]:
    if needle in value or "gradebook" in value or "source" in value:
        print("FOUND", value)
""",
    "other processes": """
import os
for name in os.listdir("/proc"):
    print("FOUND", name)
""",
    "the descriptors it was given": """
import os
for number in range(3, 300):
    try:
        os.fstat(number)
    except OSError:
        continue
    if number not in (3, 4):
        print("FOUND descriptor", number)
""",
    "the instructor through a callback": """
def double(x):
    try:
        for name in ("__globals__", "__code__", "__closure__", "__self__"):
            print("FOUND", getattr(x, name))
    except AttributeError:
        pass
    return None
total = 0
""",
    "what is asked of it": """
import gc
cls = type(next(one for one in gc.get_objects() if type(one).__name__ == "Candidate"))
answer = cls.do_operate
def spy(self, operation, args, kwargs, **more):
    if SECRET[::-1] in repr((operation, args, kwargs, more)):
        print("FOUND", operation)
    return answer(self, operation, args, kwargs, **more)
cls.do_operate = spy
double = lambda x: np.zeros(np.shape(x))
total = 0
""",
    "tracing and profiling": """
import sys, threading
def trace(frame, event, value):
    if SECRET[::-1] in repr(frame.f_locals):
        print("FOUND", event)
    return trace
sys.settrace(trace), sys.setprofile(trace), threading.settrace(trace)
double = lambda x: 0
""",
    "audit events": """
import sys
def hear(event, values):
    if SECRET[::-1] in repr(values):
        print("FOUND", event)
sys.addaudithook(hear)
double = lambda x: 0
""",
    "warnings that come from the lines of a test": """
import warnings
def double(x):
    for title in ("two doubles to four", "an array doubles", "tests"):
        for line in range(1, 8):
            warnings.warn_explicit("said", UserWarning, title, line)
    return 0
""",
    "the folder around its own": """
import os
for place in ("..", "../..", os.path.dirname(os.getcwd()), "/dev/shm", "/tmp"):
    try:
        found = os.listdir(place)
        if found or place != "/dev/shm":  # it has one of its own, which is empty
            print("FOUND", place, found)
    except OSError:
        pass
""",
    "a socket": """
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    try:
        socket.socket(family, socket.SOCK_DGRAM)
        print("FOUND", family)
    except OSError:
        pass
""",
}

VANDALS = {
    "os._exit": "import os\nos._exit(0)",
    "sys.exit": "import sys\nsys.exit(0)",
    "abort": "import os\nos.abort()",
    "a segmentation fault": "import ctypes\nctypes.string_at(0)",
    "a stack overflow": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "a signal to itself": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "a signal to everybody": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "a fork bomb": "import os\nwhile True:\n    os.fork()",
    "a daemon": "import os\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        pass",
    "a program": "import subprocess\nsubprocess.Popen(['sleep', '1000'])",
    "a memory bomb": "hoard = []\nwhile True:\n    hoard.append(bytearray(10**8))",
    "a large array": "import numpy as np\ntotal = np.ones(10**11)",
    "a full disk": "with open('large', 'wb') as file:\n    while True:\n        file.write(bytes(10**7))",
    "a million files": "for number in range(10**6):\n    open(str(number), 'w').close()",
    "a flood on stdout": "import sys\nwhile True:\n    sys.stdout.write('x' * 10**6)",
    "a flood on a descriptor": "import os\nwhile True:\n    os.write(1, b'x' * 10**6)",
    "a flood of displays": "from IPython.display import display\nfor number in range(10**7):\n    display(number)",
    "an endless loop": "while True:\n    pass",
    "an endless loop that heeds no interrupt": """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    "an endless loop in the answer": "def double(x):\n    while True:\n        pass\ntotal = 12",
    "an endless loop in the answer that heeds no interrupt": """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
def double(x):
    while True:
        pass
total = 12
""",
    "an endless repr, eq and del": """
class Slow:
    def __repr__(self):
        while True: pass
    __eq__ = __del__ = __len__ = __iter__ = __hash__ = lambda self, *args: self.__repr__()
double = total = Slow()
""",
    "threads that never end": """
import threading, atexit
def spin():
    while True: pass
for _ in range(4):
    threading.Thread(target=spin).start()
atexit.register(spin)
""",
    "a deep answer": """
total = []
for _ in range(10**5):
    total = [total]
double = lambda x: total
""",
    "a cyclic answer": "total = []\ntotal.append(total)\ndouble = lambda x: total",
    "a huge answer": "total = bytearray(10**9)\ndouble = lambda x: 'x' * 10**9",
    "a huge exception": "def double(x):\n    raise ValueError('x' * 10**8)\ntotal = 12 + 1",
    "closed descriptors": "import os\nos.closerange(0, 300)",
    "a process that stops itself": """
import os, signal
def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)
total = 12
""",
    "every signal, and a clock that rings": """
import faulthandler, gc, signal
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda *args: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
gc.callbacks.append(lambda *args: exit(3))
faulthandler.dump_traceback_later(0.5, exit=True)
total = 12
""",
    "limits of its own": """
import resource
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_STACK, resource.RLIMIT_AS):
    resource.setrlimit(limit, (0, 0))
""",
    "another pipe in the place of its own": "import os\nos.dup2(os.pipe()[0], 3)\nos.dup2(os.pipe()[1], 4)",
    "half a message": FORGE + "os.write(4, struct.pack('>I', 10**6) + b'x')\ntime.sleep(1000)",
    "a message that comes in drops": FORGE
    + """
os.write(4, struct.pack(">I", 10**6))
while True:
    os.write(4, b"x")
    time.sleep(0.1)
""",
    "bytes of a thread between the answers": """
import os, threading
def spam():
    while True:
        os.write(4, os.urandom(7))
def double(x):
    threading.Thread(target=spam, daemon=True).start()
    return 0
""",
    "outputs that no notebook can hold": FORGE
    + """
shown = {"output_type": "display_data", "data": {"text/plain": "\\ud800"}, "metadata": [1], "extra": {1}}
forge({"outputs": [shown, 5, {}], "raised": {"a": 10**5000}, "count": 10**5000})
os._exit(0)
""",
    "a reply that cannot be shown": FORGE + "forge({'refused': 10**5000})\nforge(10**5000)\ntime.sleep(1000)",
    "a flood of callbacks and warnings": """
import warnings
def double(x):
    while True:
        warnings.warn(str(len(str(x))) * 100)
total = 12
""",
    "an answer that never ends": """
def forever(x):
    while True:
        yield x
double, total = forever, forever(0)
""",
    "numbers that no normal number comes from": """
import random
def double(x):
    np.random.set_state(("MT19937", np.zeros(624, np.uint32), 624))
    random.setstate((3, (0,) * 625, None))
    return 0
""",
    "folders deeper than a path is long": """
import os
os.mkfifo("pipe")
for _ in range(1900):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
""",
    "folders that are closed to others": """
import os
for number in range(100):
    os.mkdir(str(number), 0o300)
    open(f"{number}/part", "wb").write(bytes(10**6))
""",
    "a request that was read away": "import os\nos.read(3, 10**6)",
    "a write into the environment": """
import sys, os
for folder in [*sys.path, os.path.expanduser("~"), os.path.dirname(os.__file__)]:
    open(os.path.join(folder or ".", "viva_was_here.pth"), "w").write("import os")
""",
}

BY_NBGRADER = {
    "an AST transformer that drops asserts": 10,
    "an input transformer that empties cells": 10,
    "patched builtins": None,
    "an object that equals everything": 6,
    "a float that equals everything": 6,
    "an array that equals everything": 3,
    "a string and a list that equal everything": 3,
    "a class that claims to be numpy's": 6,
    "an object whose class is changed": 3,
    "a metaclass that everything is an instance of": 3,
    "a class registered as a number": 6,
    "an array of objects that equal everything": 3,
    "arrays of pandas' own, which compare to what is true": 6,
    "frames and series that lie": 6,
    "memory of the interpreter, where one number becomes another": None,
}
"""The points that stock nbgrader gives a cheat, of ten for four grade cells; none for those that are not listed. With
None its kernel hears nothing more, and the whole submission is not graded."""

FOUND_BY_NBGRADER = {
    "the course's files",
    "its own memory",
    "its memory as a file",
    "frames and callers",
    "other processes",
    "the descriptors it was given",
    "audit events",
    "the folder around its own",
    "a socket",
}
"""The readers that find something in stock nbgrader."""
