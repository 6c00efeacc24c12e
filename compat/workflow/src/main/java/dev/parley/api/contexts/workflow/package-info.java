/// The workflow format of the native API: events in one snake_case envelope, with sub-agents linked
/// to their calls.
@NullMarked
package dev.parley.api.contexts.workflow;

import org.jspecify.annotations.NullMarked;
