/// The durable, ordered event log of each context: append, read, wait; and its SQLite store.
@NullMarked
package dev.parley.log;

import org.jspecify.annotations.NullMarked;
