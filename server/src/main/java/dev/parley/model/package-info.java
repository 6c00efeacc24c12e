/// Language models: the interface [Model], and clients for remote models.
@NullMarked
package dev.parley.model;

import org.jspecify.annotations.NullMarked;
