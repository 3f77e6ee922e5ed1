"""`tf.contrib.tpu.profiler`: messages of traces, and of the profiler's service."""

from tensorflow.contrib.tpu.profiler.profiler_analysis import (
    EnumProfileSessionsAndToolsRequest,
    EnumProfileSessionsAndToolsResponse,
    NewProfileSessionRequest,
    NewProfileSessionResponse,
    ProfileSessionDataRequest,
    ProfileSessionDataResponse,
    ProfileSessionInfo,
)
from tensorflow.tsl.profiler.protobuf.trace_events_pb2 import Device, Resource, Trace, TraceEvent

__all__ = [
    "Device",
    "EnumProfileSessionsAndToolsRequest",
    "EnumProfileSessionsAndToolsResponse",
    "NewProfileSessionRequest",
    "NewProfileSessionResponse",
    "ProfileSessionDataRequest",
    "ProfileSessionDataResponse",
    "ProfileSessionInfo",
    "Resource",
    "Trace",
    "TraceEvent",
]
