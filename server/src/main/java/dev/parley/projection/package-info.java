/// Projections of the log ("views") that answer queries about contexts, messages, tasks, artifacts
/// and usage. They are folds of the log and can be deleted and rebuilt at any time.
@NullMarked
package dev.parley.projection;

import org.jspecify.annotations.NullMarked;
