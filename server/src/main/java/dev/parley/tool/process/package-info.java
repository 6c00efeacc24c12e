/// Child processes that can be stopped completely: with all processes that they started, and also
/// after the server was killed.
@NullMarked
package dev.parley.tool.process;

import org.jspecify.annotations.NullMarked;
