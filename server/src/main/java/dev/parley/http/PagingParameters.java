package dev.parley.http;

/// The parameters of a list.
public final class PagingParameters {

  /// How many items a page may have.
  public static final Parameter LIMIT =
      Parameter.query("limit", Parameter.Type.INTEGER, "how many items, at most 1000");

  /// Where the page begins.
  public static final Parameter CURSOR =
      Parameter.query("cursor", "the nextCursor of the page before");

  private PagingParameters() {}
}
