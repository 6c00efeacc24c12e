/// Tools: what an agent can call, and those that come with Parley.
@NullMarked
package dev.parley.tool;

import org.jspecify.annotations.NullMarked;
