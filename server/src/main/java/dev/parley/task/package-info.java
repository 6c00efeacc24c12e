/// Tasks: state machine, task tree, scheduling, cancellation, timeouts, questions and answers,
/// recovery after a restart, rewind.
@NullMarked
package dev.parley.task;

import org.jspecify.annotations.NullMarked;
