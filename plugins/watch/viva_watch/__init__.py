"""Submissions are graded as they arrive, and their students read feedback: `viva watch`.

Theory of operation. The watcher looks at submitted/, and at the exchange, when something changes there and now and then
besides. What is new and complete is planned by rules that know no folder and no clock (``schedule``), and done in
rounds: each is a batch as `viva grade` has it, with the course's lock held. What is recorded gets its page at once, as
`viva feedback` writes it. A round takes in what is next whenever a worker is free, so that nobody waits for the
slowest; after a while it takes in no more and ends. Between two rounds any other command has its turn. Each round has
fork servers of its own and reads the course anew: memory stays flat, and a release counts from the next round on.

What the watcher remembers (``watch.json``) is written with each group of pages. A watcher that was killed does again
what it does not remember, and a batch leaves alone what is recorded.

terms      what the configuration says: what students read before the due date, how often, how far apart
schedule   what is to be done next, and whose turn it is
memory     what the watcher remembers, and what it tells: watch.json
arrivals   what lies in submitted/, and whether it is complete
sights     what lies in the exchange, what of it is passed over, and from when it counts
rounds     one round: graded, pages written and returned
watcher    the loop
watchcommand  viva watch
status     what the watcher does, told at a terminal and on a page
"""
