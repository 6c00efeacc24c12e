package dev.parley.door;

/// A parameter of a route, beside those in its path.
public record Parameter(String name, In in, Type type, String about) {

  /// Anything in the query: what others add to their answers is ignored, not refused.
  public static final Parameter OTHERS = query("*", "anything else is ignored");

  /// Where a parameter stands.
  public enum In {
    QUERY,
    HEADER
  }

  /// What a parameter's value is.
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

  /// A text in the query.
  public static Parameter query(String name, String about) {
    return query(name, Type.STRING, about);
  }

  /// A header that the route looks at.
  public static Parameter header(String name, String about) {
    return new Parameter(name, In.HEADER, Type.STRING, about);
  }
}
