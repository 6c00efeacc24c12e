package dev.parley.a2a;

/// The encoders of all versions and bindings.
public final class WireForms {

  /// 1.0, both bindings.
  public static final WireForm V1_0 = new ProtoForm();

  /// 0.3 over JSON-RPC.
  public static final WireForm V0_3 = new KindForm();

  /// 0.3 over HTTP+JSON: ProtoJSON with the names of that version.
  public static final WireForm V0_3_REST = new EarlyProtoForm();

  private WireForms() {}

  /// The encoder of a version over JSON-RPC.
  public static WireForm of(Version version) {
    return version == Version.V1_0 ? V1_0 : V0_3;
  }
}
