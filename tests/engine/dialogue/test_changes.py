"""What a method or a function of a student's changes in place may hold objects, though the solution changes nothing."""

from __future__ import annotations

import pytest

from tests.oral import Exam
from viva import wording

HOLDING_OBJECTS = {
    "a list of objects is drawn from in place": """
--- answer
class Card:
    def __init__(self, rank): self.rank = rank
class Deck:
    def __init__(self): self.cards = [Card(rank) for rank in (1, 2, 3)]
    def draw(self):
        card, *self.cards = self.cards
        return card
--- test
deck = Deck()
assert len(deck.cards) == 3
assert deck.draw().rank == 1 and deck.draw().rank == 2
assert len(deck.cards) == 1
--- right
class Card:
    def __init__(self, rank): self.rank = rank
class Deck:
    def __init__(self): self.cards = [Card(rank) for rank in (1, 2, 3)]
    def draw(self): return self.cards.pop(0)
--- wrong
class Card:
    def __init__(self, rank): self.rank = rank
class Deck:
    def __init__(self): self.cards = [Card(rank) for rank in (1, 2, 3)]
    def draw(self): return self.cards[0]
""",
    "a list that a test has made of objects is sorted in place": """
--- answer
class Task:
    def __init__(self, urgency): self.urgency = urgency
def in_order(tasks): return sorted(tasks, key=lambda task: task.urgency)
--- test
assert [task.urgency for task in in_order([Task(2), Task(1)])] == [1, 2]
--- right
class Task:
    def __init__(self, urgency): self.urgency = urgency
def in_order(tasks):
    tasks.sort(key=lambda task: task.urgency)
    return tasks
--- wrong
class Task:
    def __init__(self, urgency): self.urgency = urgency
def in_order(tasks):
    tasks.sort(key=lambda task: -task.urgency)
    return tasks
""",
    "a class derived from dict or list changes itself": """
--- answer
class Account:
    def __init__(self, owner): self.owner = owner
class Bank:
    def __init__(self): self.accounts = {}
    def open(self, owner): self.accounts[owner] = Account(owner)
    def __getitem__(self, owner): return self.accounts[owner]
    def __len__(self): return len(self.accounts)
--- test
bank = Bank()
bank.open("Ada")
assert bank["Ada"].owner == "Ada" and len(bank) == 1
--- right
class Account:
    def __init__(self, owner): self.owner = owner
class Bank(dict):
    def open(self, owner): self[owner] = Account(owner)
--- wrong
class Account:
    def __init__(self, owner): self.owner = owner
class Bank(dict):
    def open(self, owner): self[owner] = self["other"] = Account(owner)
""",
    "an empty list that a test has looked at gets an object": """
--- answer
class Item:
    def __init__(self, size): self.size = size
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items = [*self.items, item]
    def pop(self):
        *self.items, item = self.items
        return item
--- test
stack = Stack()
assert stack.items == []
stack.push(Item(1))
stack.push(Item(2))
assert stack.pop().size == 2
--- right
class Item:
    def __init__(self, size): self.size = size
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self): return self.items.pop()
--- wrong
class Item:
    def __init__(self, size): self.size = size
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self): return self.items.pop(0)
""",
    "objects come into a set and become keys of a dict": """
--- answer
class Tag:
    def __init__(self, name): self.name = name
    def __eq__(self, other): return self.name == other.name
    def __hash__(self): return hash(self.name)
class Post:
    def __init__(self): self.tags, self.votes = set(), {}
    def tag(self, tag): self.tags, self.votes = self.tags | {tag}, self.votes | {tag: 0}
--- test
post = Post()
assert post.tags == set() and post.votes == {}
post.tag(Tag("a"))
post.tag(Tag("a"))
post.tag(Tag("b"))
assert Tag("b") in post.tags and len(post.tags) == len(post.votes) == 2
--- right
class Tag:
    def __init__(self, name): self.name = name
    def __eq__(self, other): return self.name == other.name
    def __hash__(self): return hash(self.name)
class Post:
    def __init__(self): self.tags, self.votes = set(), {}
    def tag(self, tag):
        self.tags.add(tag)
        self.votes[tag] = 0
--- wrong
class Tag:
    def __init__(self, name): self.name = name
class Post:
    def __init__(self): self.tags, self.votes = set(), {}
    def tag(self, tag):
        self.tags.add(tag)
        self.votes[tag] = 0
""",
}


@pytest.mark.parametrize("text", HOLDING_OBJECTS.values(), ids=HOLDING_OBJECTS)
def test_what_is_changed_in_place_may_hold_objects(grader, tmp_path, text):
    Exam(text, grader, tmp_path).prove()


LOOKED_AT = """
--- answer
class Stack:
    def __init__(self): self.items = [1]
    def push(self, item): self.items = [*self.items, item]
--- test
stack = Stack()
before = stack.items
stack.push(2)
assert len(before) == 1 and before[0] == 1, "push should make another list"
--- wrong
class Stack:
    def __init__(self): self.items = [1]
    def push(self, item): self.items.append(item)
"""
INTO_A_SET = """
--- answer
class Tag:
    def __init__(self, name): self.name = name
    def __eq__(self, other): return self.name == other.name
    def __hash__(self): return hash(self.name)
class Post:
    def __init__(self): self.tags = set()
    def tag(self, tag): self.tags = self.tags | {tag}
--- test
post = Post()
before = post.tags
post.tag(Tag("a"))
assert Tag("a") not in before, "tag should make another set"
--- wrong
class Tag:
    def __init__(self, name): self.name = name
    def __eq__(self, other): return self.name == other.name
    def __hash__(self): return hash(self.name)
class Post:
    def __init__(self): self.tags = set()
    def tag(self, tag): self.tags.add(tag)
"""
ITS_OWN_OPERATOR = """
class Same:
    def __eq__(self, other): return True
class Stack:
    def __init__(self): self.items = [1]
    def push(self, item): self.items[0] = Same()
"""


def test_what_came_into_a_list_is_seen_and_its_operators_are_not_asked(grader, tmp_path):
    exam = Exam(LOOKED_AT, grader, tmp_path)
    exam.prove()
    assert wording.reason(exam.check(ITS_OWN_OPERATOR)).endswith("but is an object of class Same")


def test_what_came_into_a_set_is_found_there(grader, tmp_path):
    Exam(INTO_A_SET, grader, tmp_path).prove()
