/// The listener that all doors share: routes, requests, replies, who may come in, and streams of events.
@NullMarked
package dev.parley.door;

import org.jspecify.annotations.NullMarked;
