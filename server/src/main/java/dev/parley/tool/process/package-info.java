/// Child processes that can be ended whole: with all they started, and also after this process was killed.
@NullMarked
package dev.parley.tool.process;

import org.jspecify.annotations.NullMarked;
