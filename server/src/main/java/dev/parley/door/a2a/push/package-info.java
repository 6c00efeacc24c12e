/// Pushes what A2A tasks do to the webhooks of their callers: in order, again until they are taken, and over
/// restarts.
@NullMarked
package dev.parley.door.a2a.push;

import org.jspecify.annotations.NullMarked;
