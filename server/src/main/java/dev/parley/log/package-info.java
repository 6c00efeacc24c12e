/// The durable, ordered log of every context: append, read, await; and its stores.
@NullMarked
package dev.parley.log;

import org.jspecify.annotations.NullMarked;
