package dev.parley.a2a;

/// The encoders of all versions and bindings.
public final class A2aEncoders {

  /// 1.0, both bindings.
  public static final A2aEncoder V1_0 = new ProtoJsonEncoder();

  /// 0.3 over JSON-RPC.
  public static final A2aEncoder V0_3 = new KindJsonEncoder();

  /// 0.3 over HTTP+JSON: ProtoJSON with the names of that version.
  public static final A2aEncoder V0_3_REST = new EarlyProtoJsonEncoder();

  private A2aEncoders() {}

  /// The encoder of a version over JSON-RPC.
  public static A2aEncoder of(A2aVersion a2aVersion) {
    return a2aVersion == A2aVersion.V1_0 ? V1_0 : V0_3;
  }
}
