/// The workflow dialect of the native door: events in one snake_case envelope, sub-agents linked to their calls.
@NullMarked
package dev.parley.door.contexts.workflow;

import org.jspecify.annotations.NullMarked;
