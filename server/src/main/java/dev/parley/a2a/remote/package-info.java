/// Agents elsewhere that speak Agent2Agent: finds out how each is to be talked to, gives it work, and tells what it
/// says and does as events of the task here.
@NullMarked
package dev.parley.a2a.remote;

import org.jspecify.annotations.NullMarked;
