/// Language models: the port to them, and the one that needs no network.
@NullMarked
package dev.parley.model;

import org.jspecify.annotations.NullMarked;
