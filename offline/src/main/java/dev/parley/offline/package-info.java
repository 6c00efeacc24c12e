/// Stand-ins for demos and tests: the offline model, and the agent for conformance kits.
@NullMarked
package dev.parley.offline;

import org.jspecify.annotations.NullMarked;
