package dev.parley.door.agents;

import dev.parley.door.Parameter;

/// The parameters of a list.
final class Lists {

  static final Parameter LIMIT =
      Parameter.query("limit", Parameter.Type.INTEGER, "how many, at most 1000");
  static final Parameter CURSOR = Parameter.query("cursor", "what the page before says is next");

  private Lists() {}
}
