/// What people ask of a log, kept ready: contexts, messages, tasks, artifacts, usage. Folds that can be
/// thrown away.
@NullMarked
package dev.parley.view;

import org.jspecify.annotations.NullMarked;
