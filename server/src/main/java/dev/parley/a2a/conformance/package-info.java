/// An agent for the public conformance kits of A2A.
@NullMarked
package dev.parley.a2a.conformance;

import org.jspecify.annotations.NullMarked;
