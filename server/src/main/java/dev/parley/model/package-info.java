/// Language models: the port to them, clients of those behind a network, and one that needs none.
@NullMarked
package dev.parley.model;

import org.jspecify.annotations.NullMarked;
