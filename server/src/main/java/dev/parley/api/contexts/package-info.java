/// The native API: contexts, their messages, events, tasks and artifacts, as JSON and as streams.
@NullMarked
package dev.parley.api.contexts;

import org.jspecify.annotations.NullMarked;
