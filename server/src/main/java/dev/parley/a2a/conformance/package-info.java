/// An agent for the public A2A conformance kits.
@NullMarked
package dev.parley.a2a.conformance;

import org.jspecify.annotations.NullMarked;
