/// Agents that work elsewhere, behind a service that streams what they print.
@NullMarked
package dev.parley.proxy;

import org.jspecify.annotations.NullMarked;
