"""Attacks: what a student's answer cell may hold, by name.

Each is Python source that takes the place of the answer. ``CHEATS`` want points, ``READERS`` want to see
what is hidden (they print FOUND when they do), ``VANDALS`` want to break or outlive the grading. Vandals
run behind the wall only.
"""

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
import viva.examiner, viva.verdict
def double(x):
    raise viva.examiner.UnknownMagicError("%forged")
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
    "a request that was read away": "import os\nos.read(3, 10**6)",
    "a write into the environment": """
import sys, os
for folder in [*sys.path, os.path.expanduser("~"), os.path.dirname(os.__file__)]:
    open(os.path.join(folder or ".", "viva_was_here.pth"), "w").write("import os")
""",
}
