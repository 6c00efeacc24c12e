package dev.parley.door.contexts;

import dev.parley.door.Parameter;

/// The parameters of a list.
final class Paging {

  static final Parameter LIMIT =
      Parameter.query("limit", Parameter.Type.INTEGER, "how many, at most 1000");
  static final Parameter CURSOR = Parameter.query("cursor", "the nextCursor of the page before");

  private Paging() {}
}
