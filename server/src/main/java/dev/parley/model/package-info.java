/// Language models: the interface [Model], clients for remote models, and the offline model, which
/// needs no network.
@NullMarked
package dev.parley.model;

import org.jspecify.annotations.NullMarked;
