package dev.parley.http;

/// A parameter of a route, besides those in its path.
public record Parameter(String name, In in, Type type, String description) {

  /// Accepts any other query parameter: unknown ones are ignored, not rejected.
  public static final Parameter ANY_OTHER = query("*", "anything else is ignored");

  /// How many items a page of a list may have.
  public static final Parameter LIMIT =
      query("limit", Type.INTEGER, "how many items, at most 1000");

  /// Where a page of a list begins.
  public static final Parameter CURSOR = query("cursor", "the nextCursor of the page before");

  /// The location of a parameter.
  public enum In {
    QUERY,
    HEADER
  }

  /// The type of a parameter's value.
  public enum Type {
    STRING,
    INTEGER,
    NUMBER,
    BOOLEAN
  }

  /// A parameter in the query.
  public static Parameter query(String name, Type type, String about) {
    return new Parameter(name, In.QUERY, type, about);
  }

  /// A string in the query.
  public static Parameter query(String name, String about) {
    return query(name, Type.STRING, about);
  }

  /// A header that the route reads.
  public static Parameter header(String name, String about) {
    return new Parameter(name, In.HEADER, Type.STRING, about);
  }
}
