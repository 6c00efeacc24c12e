/// Agent2Agent as it is on the wire, in versions 0.3 and 1.0: one set of records, and a [WireForm] for each
/// way to write them. Knows nothing of contexts, tasks or the log.
@NullMarked
package dev.parley.a2a;

import org.jspecify.annotations.NullMarked;
