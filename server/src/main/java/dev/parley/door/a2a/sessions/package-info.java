/// The door of sessions and stored tasks, in the words of kagent: a session is a context, a task is a view of the log.
@NullMarked
package dev.parley.door.a2a.sessions;

import org.jspecify.annotations.NullMarked;
