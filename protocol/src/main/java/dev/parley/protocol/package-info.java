/// The events of Parley's log and their wire format: events, ids, positions, rejections, JSON.
@NullMarked
package dev.parley.protocol;

import org.jspecify.annotations.NullMarked;
