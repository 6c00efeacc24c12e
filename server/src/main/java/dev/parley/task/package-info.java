/// Tasks: the state machine, the tree, cancel, timeout, whenBusy, recovery, drain.
@NullMarked
package dev.parley.task;

import org.jspecify.annotations.NullMarked;
