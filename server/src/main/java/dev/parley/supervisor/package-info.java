/// The supervisor: which agents work on what a person says, how they work together, and what their
/// results make.
@NullMarked
package dev.parley.supervisor;

import org.jspecify.annotations.NullMarked;
