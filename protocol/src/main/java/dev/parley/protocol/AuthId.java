package dev.parley.protocol;

/// Identifies one request for a sign-in.
public record AuthId(String value) implements Id {

  public AuthId {
    Id.check("authId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
