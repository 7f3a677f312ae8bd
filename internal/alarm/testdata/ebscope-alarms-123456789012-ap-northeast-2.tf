# Made by ebscope alarm plan --emit terraform, for a provider of account 123456789012 and region ap-northeast-2.

resource "aws_cloudwatch_metric_alarm" "ebscope_i_1_byte_balance" {
  alarm_name          = "ebscope-i-1-byte-balance"
  alarm_description   = "Throughput credits of instance i-1 run low: 601 s are left at the instance's maximum, inferred to last 30 min."
  namespace           = "AWS/EC2"
  metric_name         = "EBSByteBalance%"
  statistic           = "Minimum"
  period              = 300
  evaluation_periods  = 1
  datapoints_to_alarm = 1
  threshold           = 33.4
  comparison_operator = "LessThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    InstanceId = "i-1"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_i_1_io_balance" {
  alarm_name          = "ebscope-i-1-io-balance"
  alarm_description   = "I/O credits of instance i-1 run low: 601 s are left at the instance's maximum, inferred to last 30 min."
  namespace           = "AWS/EC2"
  metric_name         = "EBSIOBalance%"
  statistic           = "Minimum"
  period              = 300
  evaluation_periods  = 1
  datapoints_to_alarm = 1
  threshold           = 33.4
  comparison_operator = "LessThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    InstanceId = "i-1"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_vol_0a1_burst_balance" {
  alarm_name          = "ebscope-vol-0a1-burst-balance"
  alarm_description   = "Burst credits of volume vol-0a1 run low: 300 s are left at its peak of 3,000 IOPS."
  namespace           = "AWS/EBS"
  metric_name         = "BurstBalance"
  statistic           = "Minimum"
  period              = 60
  evaluation_periods  = 1
  datapoints_to_alarm = 1
  threshold           = 15
  comparison_operator = "LessThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    VolumeId = "vol-0a1"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_vol_0a1_iops_exceeded" {
  alarm_name          = "ebscope-vol-0a1-iops-exceeded"
  alarm_description   = "Volume vol-0a1 is asked for more operations than it gives: I/O is held back for 5 min."
  namespace           = "AWS/EBS"
  metric_name         = "VolumeIOPSExceededCheck"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 5
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    InstanceId = "i-1"
    VolumeId   = "vol-0a1"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_vol_0a1_throughput_exceeded" {
  alarm_name          = "ebscope-vol-0a1-throughput-exceeded"
  alarm_description   = "Volume vol-0a1 is asked for more throughput than it gives: I/O is held back for 5 min."
  namespace           = "AWS/EBS"
  metric_name         = "VolumeThroughputExceededCheck"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 5
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    InstanceId = "i-1"
    VolumeId   = "vol-0a1"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_vol_0b2_burst_balance" {
  alarm_name          = "ebscope-vol-0b2-burst-balance"
  alarm_description   = "Burst credits of volume vol-0b2 run low: 305 s are left at its burst rate of 122 MiB/s."
  namespace           = "AWS/EBS"
  metric_name         = "BurstBalance"
  statistic           = "Minimum"
  period              = 60
  evaluation_periods  = 1
  datapoints_to_alarm = 1
  threshold           = 6.1
  comparison_operator = "LessThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    VolumeId = "vol-0b2"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_vol_0b2_iops_exceeded" {
  alarm_name          = "ebscope-vol-0b2-iops-exceeded"
  alarm_description   = "Volume vol-0b2 is asked for more operations than it gives: I/O is held back for 5 min."
  namespace           = "AWS/EBS"
  metric_name         = "VolumeIOPSExceededCheck"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 5
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    InstanceId = "i-1"
    VolumeId   = "vol-0b2"
  }
}

resource "aws_cloudwatch_metric_alarm" "ebscope_vol_0b2_throughput_exceeded" {
  alarm_name          = "ebscope-vol-0b2-throughput-exceeded"
  alarm_description   = "Volume vol-0b2 is asked for more throughput than it gives: I/O is held back for 5 min."
  namespace           = "AWS/EBS"
  metric_name         = "VolumeThroughputExceededCheck"
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 5
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "missing"
  alarm_actions       = ["arn:aws:sns:ap-northeast-2:123456789012:pager"]

  dimensions = {
    InstanceId = "i-1"
    VolumeId   = "vol-0b2"
  }
}
