/// Agents that run behind a proxy service, which streams their output.
@NullMarked
package dev.parley.external.proxy;

import org.jspecify.annotations.NullMarked;
