/// The sessions API, compatible with kagent: a session is a context, and a task is a projection of
/// the log.
@NullMarked
package dev.parley.api.a2a.sessions;

import org.jspecify.annotations.NullMarked;
