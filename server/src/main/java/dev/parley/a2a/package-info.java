/// The wire format of Agent2Agent (A2A), versions 0.3 and 1.0: one set of records, and a [A2aEncoder]
/// for each encoding. Independent of contexts, tasks and the log.
@NullMarked
package dev.parley.a2a;

import org.jspecify.annotations.NullMarked;
