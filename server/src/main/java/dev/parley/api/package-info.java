/// What all APIs share: their dependencies, who may see and approve what, and changes of contexts.
@NullMarked
package dev.parley.api;

import org.jspecify.annotations.NullMarked;
